import type { HttpRequest, RoutedApp, Serve } from './app.js'

/**
 * Returns the function that answers a request instead of this node; null if this node answers
 * itself.
 */
export type Elsewhere = (request: HttpRequest) => Serve | null

/** An app that forwards requests for other cells' users to their leader, whatever their route. */
export function routeByPartition(app: RoutedApp, elsewhere: Elsewhere): RoutedApp {
  const dealt =
    (serve: Serve): Serve =>
    (response, request) =>
      (elsewhere(request) ?? serve)(response, request)
  return {
    adapter: app.adapter,
    get: (path, serve) => app.get(path, dealt(serve)),
    head: (path, serve) => app.head(path, dealt(serve)),
    post: (path, serve) => app.post(path, dealt(serve)),
    patch: (path, serve) => app.patch(path, dealt(serve)),
    put: (path, serve) => app.put(path, dealt(serve)),
    del: (path, serve) => app.del(path, dealt(serve)),
    options: (path, serve) => app.options(path, dealt(serve)),
    any: (path, serve) => app.any(path, dealt(serve)),
    writeHeaders: app.writeHeaders,
  }
}
