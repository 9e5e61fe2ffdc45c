import type { Call, Data } from './operations.js';
/** Hashes that are affected, in lower case, with their OSV documents. */
export type AdvisoriesByHash = Data<'/v3/advisories/match', 'post'>;
export declare function matchAdvisories({ post }: {
    post: Call<'post'>;
}, hashes: readonly string[]): Promise<AdvisoriesByHash>;
