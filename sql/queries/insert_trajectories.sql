-- Append trajectories that Python resolved. incoming: an Arrow batch.
INSERT INTO trajectories BY NAME FROM incoming;
