-- When the session last gave the password: what moves ownership of an account asks for it again some minutes later.
alter table session add column confirmed_at timestamptz;

-- A link for the former address takes a change of the address back.
alter table account_flow drop constraint account_flow_kind_check;
alter table account_flow add constraint account_flow_kind_check
  check (kind in ('verify_email', 'reset_password', 'sign_in_second_factor', 'set_up_totp', 'undo_email_change'));
