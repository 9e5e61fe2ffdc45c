/** Returns the URL of an instance without slashes at its end. */
export declare function toBaseUrl(url: string): string;
