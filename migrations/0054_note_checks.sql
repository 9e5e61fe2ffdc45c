-- Stores the results of checks of the instance: the newest release of Depot, and the certificate of its address.

create table instance_check (
  name text primary key,
  at timestamptz not null,
  value jsonb not null
);

-- The interval of a recurring job, from which operators see when it runs next.
alter table job_schedule add column every_minutes integer;
