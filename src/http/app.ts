/**
 * What the front end needs of an HTTP server, in the form of uWebSockets.js. Two adapters provide
 * it: `native-uws.ts` and `node-http/`. Nothing else knows which one runs.
 */

/** Valid until its route returns. */
export interface HttpRequest {
  /** As received, or in lower case. */
  getMethod(): string
  /** The path, percent-encoded, without its query. */
  getUrl(): string
  /** Visits every header as received, with names in lower case. */
  forEach(take: (name: string, value: string) => void): void
  /** The pattern's parameters in order, still percent-encoded. */
  getParameter(index: number): string
  /** Without its question mark; empty or undefined without one. */
  getQuery(): string | undefined
}

/** Must not be used after an abort or after its end. */
export interface HttpResponse {
  /** Must come before any header; defaults to `200 OK`. */
  writeStatus(line: string): HttpResponse
  writeHeader(name: string, value: string): HttpResponse
  /**
   * Writes a piece of an answer of unknown length; returns false while the caller has not taken
   * earlier ones.
   */
  write(chunk: string | Uint8Array): boolean
  /** Calls `take` when the caller takes data again; `take` returns true. */
  onWritable(take: () => boolean): unknown
  end(body?: string | Uint8Array, closeConnection?: boolean): unknown
  /** For answers to HEAD, 204 and 304. */
  endWithoutBody(): unknown
  /** Closes the connection; an answer that has not ended is an abort. */
  close(): unknown
  /** Writes in `work` are sent together; every write outside the route's callback is corked. */
  cork(work: () => void): unknown
  /** Calls `notify` at most once, if the caller disconnects before the end. */
  onAborted(notify: () => void): unknown
  /** A piece is valid during the call. The last one may be empty. */
  onData(take: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  getRemoteAddressAsText(): ArrayBuffer
}

export type Serve = (response: HttpResponse, request: HttpRequest) => void

/** The adapter that serves, as logs and metrics name it. */
export type AdapterName = 'uWebSockets.js' | 'node:http'

export interface Listener {
  /** The bound port, also if 0 was requested. */
  readonly port: number
  /** Stops accepting; connections with a request in flight stay open. */
  close(): void
}

/**
 * Routes by method and path: `:name` is one segment, a final `*` is any rest. A named method takes
 * precedence over `any`, a literal segment over a parameter, and a parameter over a rest.
 */
export interface RoutedApp {
  readonly adapter: AdapterName
  get(path: string, serve: Serve): unknown
  head(path: string, serve: Serve): unknown
  post(path: string, serve: Serve): unknown
  patch(path: string, serve: Serve): unknown
  put(path: string, serve: Serve): unknown
  del(path: string, serve: Serve): unknown
  options(path: string, serve: Serve): unknown
  any(path: string, serve: Serve): unknown
  /**
   * Writes several headers.
   * @param value value of the header `name`; further headers follow it on separate lines
   */
  writeHeaders(response: HttpResponse, name: string, value: string): void
}

export interface App extends RoutedApp {
  /**
   * @param port 0 picks a free one
   * @throws Error if the address cannot be bound
   */
  listen(host: string, port: number): Promise<Listener>
}
