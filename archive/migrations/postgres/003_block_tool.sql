-- +goose Up
-- Results of tools that are seldom used are found by it, and what Prune deletes.
CREATE INDEX IF NOT EXISTS block_tool ON block (tool, day);
