-- Forget the repairs of the touched traces that deriving makes again. Which records were merged can
-- not be seen any more once they are.
DELETE FROM repairs
WHERE kind <> 'duplicate_merged' AND trace_id IN (SELECT trace_id FROM touched);
