import Type from 'typebox'

export const CodeHostLink = Type.Object({ token: Type.String({ minLength: 1, maxLength: 512 }) })
