alter table instance_settings
  -- The announcement is shown between these times; null means without this limit.
  add column announcement_start timestamptz,
  add column announcement_end timestamptz,
  -- Currency of all amounts, as users read it; null if the operator has not named it.
  add column currency text,
  -- Texts of the home page and its sections; null for the defaults.
  add column home_heading text,
  add column home_text text,
  add column home_sections text[],
  add constraint instance_settings_announcement_times_check check (announcement_end > announcement_start),
  add constraint instance_settings_currency_check check (char_length(currency) between 1 and 16),
  add constraint instance_settings_home_heading_check check (char_length(home_heading) between 1 and 100),
  add constraint instance_settings_home_text_check check (char_length(home_text) between 1 and 300);
