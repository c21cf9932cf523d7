-- +goose Up
-- A stream has a subject, or none; none of what is there has one. From here on rows may hold distributions, too.
ALTER TABLE stream ADD COLUMN IF NOT EXISTS subject TEXT NOT NULL DEFAULT '';
ALTER TABLE stream DROP CONSTRAINT IF EXISTS stream_key;
ALTER TABLE stream ADD CONSTRAINT stream_key UNIQUE (source, target, test, tool, kind, role, subject);
