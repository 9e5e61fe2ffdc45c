-- The entries about an object by its ID alone, whatever its kind is. Large instances can create the index before the update:
-- create index concurrently audit_entry_subject_id_idx on audit_entry (subject_id, id) where subject_id is not null;
create index if not exists audit_entry_subject_id_idx on audit_entry (subject_id, id) where subject_id is not null;
