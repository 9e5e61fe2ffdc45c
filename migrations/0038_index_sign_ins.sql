-- The last sign-in of an account, which stays when its sessions have ended.
create index if not exists audit_entry_sign_in_idx on audit_entry (actor_id, at) where action in ('account.created', 'account.signed_in');
