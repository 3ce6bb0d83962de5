"""What people and programs are shown. Trace content is hostile text: it is escaped here."""
