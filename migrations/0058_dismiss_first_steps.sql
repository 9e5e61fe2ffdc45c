-- Settings: whether operators have dismissed the first steps of the overview.
alter table instance_settings add column first_steps_dismissed boolean;
