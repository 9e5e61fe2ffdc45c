-- The unread notifications of an account, which each page of a signed-in user counts. Large instances can create the index before
-- the update: create index concurrently notification_unread_idx on notification (account_id) where not read;
create index if not exists notification_unread_idx on notification (account_id) where not read;
