// Response schemas of the discovery documents.
import Type from 'typebox'
import { NamedObject, Nullable } from '#lib/schema/schema-parts.ts'

const template = (description: string, variables: string) =>
  Type.String({ description: `${description}. URI template (RFC 6570) with ${variables}` })

/** The client that an instance serves. */
export const ClientView = NamedObject('InstanceClient', {
  name: Type.String({ description: 'Name of the npm package' }),
  version: Type.String({ description: 'Version of the client, which is that of the instance' }),
  url: Type.String({ description: 'URL of the package, which `npx -p` and `npm install` accept' }),
  integrity: Type.String({ description: 'SHA-512 of the package as Subresource Integrity', examples: ['sha512-…'] }),
})

export const InstanceDescription = NamedObject('InstanceDescription', {
  software: Type.Literal('depot', { description: 'The software of the instance' }),
  version: Type.String({ description: 'Version of Depot' }),
  name: Type.String({ description: 'Name of the instance' }),
  url: Type.String({ description: 'Public URL of the instance, without a slash at the end' }),
  logo: Nullable(Type.String({ description: 'URL of the smallest copy of the logo; null for the default logo' })),
  api: Type.Object({
    v3: Type.String({ description: 'Base URL of the current API' }),
    v2: Type.String({ description: 'Base URL of the API for existing clients' }),
    description: Type.String({ description: 'URL of the OpenAPI description' }),
    documentation: Type.String({ description: 'URL of the viewer of the API description' }),
    oauth: Type.String({ description: 'URL of the OAuth 2.0 server metadata (RFC 8414)' }),
    publishing: Type.String({ description: 'URL of the metadata for builds that publish' }),
    maven: Type.String({ description: 'URL of the Maven repository, whose groups begin with `maven.`' }),
  }),
  files: Type.String({ description: 'Prefix of the URLs of files, without a slash at the end' }),
  client: ClientView,
  limits: Type.Object({
    requests_per_minute: Type.Integer({ description: 'Requests per minute of one address, without a granted rate' }),
    items_per_request: Type.Integer({ description: 'Maximum number of IDs or hashes per request' }),
    json_bytes: Type.Integer({ description: 'Maximum size of a JSON body in bytes' }),
  }),
  project_types: Type.Array(Type.String(), {
    description:
      'Types of projects. The `type` of a template is one of them, or `project`, which leads to the page of any type',
  }),
  launchers: Type.Array(
    Type.Object({
      name: Type.String(),
      link: template('Link that opens a file in the launcher', '`url`: the URL of the file'),
      project_types: Type.Array(Type.String(), { description: 'Types whose files the launcher opens' }),
    }),
    { description: 'Launchers that the site links to' },
  ),
  pages: Nullable(
    Type.Object(
      {
        project: template('Page of a project', '`type` and `slug`'),
        download: template(
          'Address that leads to the file that an update check would choose',
          '`type`, `slug`, `loader`, `game_version` and `version_type`',
        ),
        badge: template(
          'Badge of a project',
          '`type`, `slug`, `badge` (`downloads`, `version`, `game-versions`, `loaders` or `licence`) and `style` (`flat` or `flat-square`)',
        ),
        modpack_mrpack: template('Newest version of a modpack as `.mrpack`', '`slug`'),
        modpack_packwiz: template('Newest version of a modpack for packwiz', '`slug`'),
        pack: template('Page of a saved pack', '`user` and `slug`'),
        pack_mrpack: template('Newest save of a pack as `.mrpack`', '`user` and `slug`'),
        pack_packwiz: template('Newest save of a pack for packwiz', '`user` and `slug`'),
        pack_server: template('Server side of the newest save of a pack as ZIP archive', '`user` and `slug`'),
      },
      { description: 'Addresses of the site; null if the instance serves only the API' },
    ),
  ),
})
