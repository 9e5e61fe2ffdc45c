import { LISTS } from './generated/tables.js';
import type { Args, Data, PathOf } from './operations.js';
export type ListPath = keyof typeof LISTS & PathOf<'get'>;
/** The items of a list: the response itself, or the property of it that contains them. */
export type Item<Path extends ListPath> = Data<Path, 'get'> extends readonly (infer One)[] ? One : Data<Path, 'get'> extends {
    [Key in NonNullable<(typeof LISTS)[Path]['items']>]: readonly (infer One)[];
} ? One : never;
/** Paths of GET operations that take IDs. */
export type ManyPath = {
    [Path in PathOf<'get'>]: Args<Path, 'get'>[0] extends {
        params: {
            query: {
                ids: unknown;
            };
        };
    } ? Data<Path, 'get'> extends readonly unknown[] ? Path : never : never;
}[PathOf<'get'>];
export type Lists = {
    /** Iterates over the pages of a list, as the server returns them. `limit` or `count` is the size of a page. */
    pages<Path extends ListPath>(path: Path, ...args: Args<Path, 'get'>): AsyncGenerator<Data<Path, 'get'>, void>;
    /** Iterates over all items of a list and requests pages as they are needed. */
    items<Path extends ListPath>(path: Path, ...args: Args<Path, 'get'>): AsyncGenerator<Item<Path>, void>;
    /** Returns items by their IDs in the order of `ids`, with one request per 1,000 IDs. Unknown and hidden ones are left out. */
    many<Path extends ManyPath>(path: Path, ids: readonly string[]): Promise<Data<Path, 'get'>>;
};
/** `link` is the header, which has the cursor of the next page if the response itself is the list. */
type Get = (path: string, init: Record<string, unknown>) => Promise<{
    data: unknown;
    link: string | null;
}>;
export declare function makeLists(get: Get): Lists;
export {};
