-- Delete the records that lost.
DELETE FROM spans WHERE rowid IN (SELECT row_no FROM losers);
