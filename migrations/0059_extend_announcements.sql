-- Settings: severity and link of the announcement, and whether staff need a second factor.
alter table instance_settings
  -- Null: info.
  add column announcement_severity text,
  add column announcement_link text,
  add column require_staff_two_factor boolean,
  add constraint instance_settings_announcement_severity_check
    check (announcement_severity in ('info', 'warning', 'critical')),
  add constraint instance_settings_announcement_link_check check (char_length(announcement_link) between 1 and 2048);
