import type { ParamsOption, RequestBodyOption } from 'openapi-fetch';
import type { HttpMethod, MediaType, PathsWithMethod, RequiredKeysOf, ResponseObjectMap, SuccessResponse } from 'openapi-typescript-helpers';
import type { components, paths } from './generated/api.js';
export type Schemas = components['schemas'];
type Operation<Path extends keyof paths, Method extends HttpMethod> = NonNullable<paths[Path][Method & keyof paths[Path]]>;
export type PathOf<Method extends HttpMethod> = PathsWithMethod<paths, Method>;
type Init<Path extends keyof paths, Method extends HttpMethod> = ParamsOption<Operation<Path, Method>> & RequestBodyOption<Operation<Path, Method>> & {
    signal?: AbortSignal;
    headers?: Record<string, string>;
};
/** The second argument of a request, which is optional if the operation needs neither parameters nor a body. */
export type Args<Path extends keyof paths, Method extends HttpMethod> = RequiredKeysOf<Init<Path, Method>> extends never ? [init?: Init<Path, Method>] : [init: Init<Path, Method>];
type Success<Path extends keyof paths, Method extends HttpMethod> = SuccessResponse<ResponseObjectMap<Operation<Path, Method>>, MediaType>;
/** The result of a request that was checked and not executed. */
export type DryRun = Extract<Success<'/v3/version', 'post'>, {
    valid: true;
}>;
/** The body of a successful response. */
export type Data<Path extends keyof paths, Method extends HttpMethod> = Exclude<Success<Path, Method>, {
    valid: true;
}>;
export type Call<Method extends HttpMethod> = <Path extends PathOf<Method>>(path: Path, ...args: Args<Path, Method>) => Promise<Data<Path, Method>>;
/** Paths whose requests can be checked without being executed. */
type DryRunPath<Method extends HttpMethod> = {
    [Path in PathOf<Method>]: Extract<Success<Path, Method>, {
        valid: true;
    }> extends never ? never : Path;
}[PathOf<Method>];
export type DryCall<Method extends HttpMethod> = <Path extends DryRunPath<Method>>(path: Path, ...args: Args<Path, Method>) => Promise<DryRun>;
export {};
