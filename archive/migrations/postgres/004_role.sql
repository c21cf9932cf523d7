-- +goose Up
-- A stream has a role, and a miss a way. What each Result of the layout before says of both is found out by reading them, which
-- the program does once where refile is 1.
ALTER TABLE stream ADD COLUMN IF NOT EXISTS role TEXT NOT NULL DEFAULT '';
ALTER TABLE stream DROP CONSTRAINT IF EXISTS stream_source_target_test_tool_kind_key;
ALTER TABLE stream DROP CONSTRAINT IF EXISTS stream_key;
UPDATE stream SET role = CASE test WHEN '' THEN 'demand' ELSE 'planned' END;
ALTER TABLE stream ADD CONSTRAINT stream_key UNIQUE (source, target, test, tool, kind, role);
ALTER TABLE miss ADD COLUMN IF NOT EXISTS way TEXT NOT NULL DEFAULT '';
INSERT INTO state VALUES ('refile', 1) ON CONFLICT (name) DO UPDATE SET value = 1;
