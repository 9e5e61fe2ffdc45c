/** `error` of the responses that are errors. */
export type ErrorCode = 'LimitReached' | 'analytics_database_error' | 'api_deprecated' | 'auth_error' | 'cache_database_error' | 'captcha_error' | 'chat_provider_error' | 'conflict' | 'cursor_expired' | 'database_error' | 'decoding_error' | 'file_hosting_error' | 'internal_error' | 'invalid_auth_method' | 'invalid_credentials' | 'invalid_input' | 'json_error' | 'mail_error' | 'not_found' | 'payment_provider_error' | 'payments_error' | 'ratelimit_error' | 'search_error' | 'service_unavailable' | 'unauthorized' | 'validation_error' | 'xml_error';
/** Paths of POST requests that change nothing, so that repeating them is safe. */
export declare const READS_BY_POST: readonly string[];
/** Lists in pages: the query parameters, and the property of the response that contains the items. */
export declare const LISTS: {
    readonly '/_internal/account/audit-log': {
        readonly by: "next";
        readonly start: "before";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "entries";
    };
    readonly '/v3/user/{id}/notifications': {
        readonly by: "link";
        readonly start: "cursor";
        readonly size: "limit";
        readonly max: 100;
        readonly items: null;
    };
    readonly '/v3/project/{id}/dependents': {
        readonly by: "next";
        readonly start: "cursor";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "projects";
    };
    readonly '/v3/project/{id}/version': {
        readonly by: "link";
        readonly start: "cursor";
        readonly size: "limit";
        readonly max: 100;
        readonly items: null;
    };
    readonly '/v3/search': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "hits";
    };
    readonly '/v3/webhook/{id}/deliveries': {
        readonly by: "next";
        readonly start: "cursor";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "deliveries";
    };
    readonly '/_internal/affiliate': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: null;
    };
    readonly '/v3/report': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "count";
        readonly max: 100;
        readonly items: null;
    };
    readonly '/_internal/moderation/reports': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "count";
        readonly max: 100;
        readonly items: "groups";
    };
    readonly '/_internal/moderation/threads': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "count";
        readonly max: 100;
        readonly items: "threads";
    };
    readonly '/_internal/moderation/projects': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "count";
        readonly max: 100;
        readonly items: "projects";
    };
    readonly '/_internal/moderation/users': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "users";
    };
    readonly '/_internal/moderation/blocked_files': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "files";
    };
    readonly '/_internal/moderation/log': {
        readonly by: "next";
        readonly start: "before";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "entries";
    };
    readonly '/_internal/moderation/blocked_images': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "images";
    };
    readonly '/_internal/moderation/scans': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "count";
        readonly max: 100;
        readonly items: "scans";
    };
    readonly '/_internal/admin/sign-up-blocks': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "blocks";
    };
    readonly '/_internal/admin/audit-log': {
        readonly by: "next";
        readonly start: "before";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "entries";
    };
    readonly '/_internal/admin/suspended-users': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: null;
    };
    readonly '/_internal/admin/deleted-users': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: null;
    };
    readonly '/_internal/admin/invitations': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: null;
    };
    readonly '/_internal/admin/jobs': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "jobs";
    };
    readonly '/_internal/admin/mail': {
        readonly by: "next";
        readonly start: "before";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "deliveries";
    };
    readonly '/_internal/admin/errors': {
        readonly by: "offset";
        readonly start: "offset";
        readonly size: "limit";
        readonly max: 100;
        readonly items: "errors";
    };
};
