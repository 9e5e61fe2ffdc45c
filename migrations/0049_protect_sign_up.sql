-- Limits against waves of spam: settings for sign-ups and first projects, blocked email domains and address ranges, and accounts that wait for approval.
alter table instance_settings
  add column sign_ups_per_range integer check (sign_ups_per_range between 1 and 1000),
  add column first_projects_per_day integer check (first_projects_per_day between 1 and 1000),
  add column approve_accounts boolean;

alter table account add column awaits_approval boolean not null default false;
create index account_awaits_approval_idx on account (created) where awaits_approval;

create table sign_up_block (
  id text collate "C" primary key check (id ~ '^[0-9A-Za-z]{8}$'),
  email_domain text collate "C" check (length(email_domain) between 1 and 253),
  address_range cidr,
  note text not null check (length(note) <= 500),
  created timestamptz not null,
  ends timestamptz,
  constraint sign_up_block_target_check check (num_nonnulls(email_domain, address_range) = 1)
);
create unique index sign_up_block_domain_key on sign_up_block (email_domain);
create unique index sign_up_block_range_key on sign_up_block (address_range);
create index sign_up_block_ends_idx on sign_up_block (ends) where ends is not null;
