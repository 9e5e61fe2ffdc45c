-- The last event before the webhook was created or switched on. Deliveries begin with the next event.
alter table webhook add column after_event bigint not null default 0;
