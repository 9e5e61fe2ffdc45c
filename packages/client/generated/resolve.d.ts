import type { Transport } from './client.js';
import type { Args, Call, Data } from './operations.js';
type Body = Args<'/v3/resolve', 'post'>[0]['body'];
/** Items, target and preferences. An item can be the ID or the slug of a project. */
export type ResolveRequest = Omit<Body, 'items'> & {
    items: readonly (string | Body['items'][number])[];
};
/** The chosen versions. With `store`, `pack` has the addresses from which launchers install. */
export type Resolution = Data<'/v3/resolve', 'post'> & {
    pack?: {
        json: string;
        mrpack: string;
        packwiz: string;
    };
};
export declare function resolveItems({ post, transport }: {
    post: Call<'post'>;
    transport: Pick<Transport, 'baseUrl'>;
}, { items, ...request }: ResolveRequest, { store }?: {
    store?: boolean;
}): Promise<Resolution>;
export {};
