import Type from 'typebox'

const Names = Type.Array(Type.String())
/** What an OAuth client needs to know of this server (RFC 8414). */
export const Metadata = Type.Object(
  {
    issuer: Type.String(),
    authorization_endpoint: Type.String(),
    token_endpoint: Type.String(),
    introspection_endpoint: Type.String(),
    revocation_endpoint: Type.String(),
    scopes_supported: Names,
    response_types_supported: Names,
    response_modes_supported: Names,
    grant_types_supported: Names,
    token_endpoint_auth_methods_supported: Names,
    introspection_endpoint_auth_methods_supported: Names,
    revocation_endpoint_auth_methods_supported: Names,
    code_challenge_methods_supported: Names,
    authorization_response_iss_parameter_supported: Type.Boolean(),
    service_documentation: Type.String(),
  },
  { title: 'OAuthServerMetadata' },
)
