-- Append spans in place of others, with the captures that brought them. incoming: as `spans`.
INSERT INTO spans BY NAME FROM incoming;
