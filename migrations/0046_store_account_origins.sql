-- The origin of the sign-up and of the last sign-in, with which accounts of the same origin can be found. A job deletes it after 90 days.
create table account_origin (
  account_id text collate "C" not null references account (id) on delete cascade,
  event text not null,
  at timestamptz not null,
  -- 24 bits of an IPv4 address, 48 bits of an IPv6 address.
  address_range cidr not null,
  user_agent text not null,
  primary key (account_id, event),
  constraint account_origin_event_check check (event in ('sign_up', 'sign_in'))
);
create index account_origin_range_idx on account_origin using gist (address_range inet_ops);
create index account_origin_at_idx on account_origin (at);
