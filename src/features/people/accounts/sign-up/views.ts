import Type from 'typebox'

/** What sign-up and sign-in pages need to know of the service. */
export const Globals = Type.Object(
  {
    captcha_enabled: Type.Boolean(),
    registration_open: Type.Boolean(),
    email_verification_required: Type.Boolean(),
    tax_compliance_thresholds: Type.Record(Type.String(), Type.Number(), {
      description: 'Empty: this service makes no payouts itself',
    }),
  },
  { title: 'Globals' },
)
