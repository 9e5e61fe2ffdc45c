/** Headers of a request: an object with lower-case names, as in Node.js, or `Headers`. */
export type WebhookHeaders = Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
export type WebhookMessage = {
    type: string;
    timestamp: string;
    data: Record<string, unknown>;
};
export type VerifyOptions = {
    /** Maximum age of the message, and maximum time that it can be ahead. Default: 300 seconds. */
    toleranceSeconds?: number;
    /** Milliseconds since 1970. Default: the present. */
    now?: number;
};
/** A message that did not come from the sender, or that is too old. */
export declare class WebhookVerificationError extends Error {
    name: string;
}
/**
 * Returns the message of a webhook if one of its signatures is right.
 * @param body the exact text of the body, before any parsing.
 * @param secret the secret of the webhook (`whsec_…`), or a public key of the instance (`whpk_…`).
 * @throws WebhookVerificationError
 */
export declare function verifyWebhook(headers: WebhookHeaders, body: string | Uint8Array, secret: string, { toleranceSeconds, now }?: VerifyOptions): Promise<WebhookMessage>;
