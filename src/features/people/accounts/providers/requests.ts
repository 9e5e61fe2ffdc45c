import Type from 'typebox'

export const ProviderParams = Type.Object({
  provider: Type.String({
    pattern: '^[a-z][a-z0-9-]*$',
    maxLength: 32,
    description: 'ID of the service in the settings of the instance',
    examples: ['github'],
  }),
})
