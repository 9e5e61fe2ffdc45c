-- What happened in a minute (retained for 24 hours) and in an hour (retained for 90 days), in all processes together.
create table instance_figure (
  span text not null,
  at timestamptz not null,
  requests integer not null default 0,
  limited integer not null default 0,
  refused integer not null default 0,
  failed integer not null default 0,
  downloads integer not null default 0,
  projects integer not null default 0,
  versions integer not null default 0,
  accounts integer not null default 0,
  jobs_done integer not null default 0,
  jobs_retried integer not null default 0,
  jobs_failed integer not null default 0,
  mails_sent integer not null default 0,
  mails_rejected integer not null default 0,
  -- Numbers of requests by response time; src/platform/telemetry/figures.ts has the limits.
  durations integer[] not null default '{}',
  -- At the end of the span.
  in_review integer,
  constraint instance_figure_pkey primary key (span, at),
  constraint instance_figure_span_check check (span in ('minute', 'hour'))
);

-- Responses with 5xx in an hour, by error code and route, in all processes together.
create table instance_error (
  hour timestamptz not null,
  code text not null,
  route text not null,
  count integer not null,
  last timestamptz not null,
  request_id text collate "C" not null,
  constraint instance_error_pkey primary key (hour, code, route)
);

-- The store and the database as measured on a day (UTC). Null: the part cannot be measured.
create table storage_measure (
  day date primary key,
  measured timestamptz not null,
  version_bytes bigint not null,
  version_files integer not null,
  image_bytes bigint not null,
  image_files integer not null,
  orphan_bytes bigint not null,
  orphan_files integer not null,
  event_bytes bigint,
  database_bytes bigint not null,
  -- The largest projects and some orphaned files, of the newest day only.
  details jsonb
);

-- Emails that were handed to the mail server, or that it rejected. The response contains no address.
create table mail_delivery (
  id bigint generated always as identity primary key,
  at timestamptz not null,
  kind text not null,
  account_id text collate "C" references account (id) on delete cascade,
  is_sent boolean not null,
  response text not null,
  constraint mail_delivery_response_check check (char_length(response) <= 500)
);
create index mail_delivery_account_id_idx on mail_delivery (account_id);
create index mail_delivery_rejected_idx on mail_delivery (id) where (not is_sent);
