-- Record the member who created each token of a service account. Such a token never exceeds what this member may do. The
-- audit log names the members of existing tokens. A token whose maker is unknown does not work.
alter table personal_access_token add column created_by text collate "C" references account (id) on delete cascade;

create index personal_access_token_created_by_idx on personal_access_token (created_by) where created_by is not null;

update personal_access_token token set created_by = maker.id
  from account service, audit_entry entry, account maker
  where service.id = token.account_id and service.service_of is not null
    and entry.action = 'token.created' and entry.subject_kind = 'access_token' and entry.subject_id = token.id
    and maker.id = entry.actor_id;

-- The account that created a webhook lost the permission to manage it.
alter table webhook drop constraint webhook_disabled_reason_check;
alter table webhook add constraint webhook_disabled_reason_check
  check (disabled_reason in ('failing', 'gone', 'owner', 'secret_lost', 'access_lost'));

select pg_notify('depot_changes', '["token"]');
