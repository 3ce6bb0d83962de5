-- Append steps that Python resolved. incoming: an Arrow batch.
INSERT INTO steps BY NAME FROM incoming;
