// Settings of the public web site.
import Type from 'typebox'

export const SITE_VARIABLES = {
  SITE: Type.Enum(['on', 'off'], {
    default: 'on',
    must: 'one of on, off',
    description: 'Whether Depot serves the public web site in addition to the API.',
    example: 'off',
  }),
  SITE_NAME: Type.Refine(
    Type.String({
      default: 'Depot',
      maxLength: 64,
      description: 'Name of the instance on pages.',
      must: '1 to 64 characters without control characters',
      example: 'Our Depot',
    }),
    (value) => !/\p{Cc}/u.test(value),
  ),
}
