alter table instance_settings
  -- The announcement is shown between these times; null means without this limit.
  add column announcement_start timestamptz,
  add column announcement_end timestamptz,
  -- Currency of all amounts, as users read it; null if the operator has not named it.
  add column currency text,
  add constraint instance_settings_announcement_times_check check (announcement_end > announcement_start),
  add constraint instance_settings_currency_check check (char_length(currency) between 1 and 16);
