/**
 * What the front end asks of an HTTP server, in the form that uWebSockets.js gives it. Two adapters
 * have it: `native-uws.ts` and `node-http/`. Nothing else knows which one runs.
 */

/** Valid until its route returns. */
export interface HttpRequest {
  /** As it came, or in lower case. */
  getMethod(): string
  /** The path, percent-encoded, without its query. */
  getUrl(): string
  /** Every header as it came, names in lower case. */
  forEach(take: (name: string, value: string) => void): void
  /** The pattern's parameters in order, still percent-encoded. */
  getParameter(index: number): string
  /** Without its question mark; empty or undefined when there is none. */
  getQuery(): string | undefined
}

/** Dead after an abort and after its end: nothing may be called then. */
export interface HttpResponse {
  /** Before any header; `200 OK` when it is not called. */
  writeStatus(line: string): HttpResponse
  writeHeader(name: string, value: string): HttpResponse
  /**
   * A piece of an answer whose length is not known; false while earlier ones wait for the caller
   * to take them.
   */
  write(chunk: string | Uint8Array): boolean
  /** `take` is called when the caller takes again what waited; it returns true. */
  onWritable(take: () => boolean): unknown
  end(body?: string | Uint8Array, closeConnection?: boolean): unknown
  /** For answers to HEAD, 204 and 304. */
  endWithoutBody(): unknown
  /** Closes the connection; an answer that has not ended is an abort. */
  close(): unknown
  /** Writes within `work` leave as one; every write outside of the route's callback is corked. */
  cork(work: () => void): unknown
  /** `notify` is called at most once, when the caller goes away before the end. */
  onAborted(notify: () => void): unknown
  /** A piece is valid during the call. The last one may be empty. */
  onData(take: (piece: ArrayBuffer, isLast: boolean) => void): unknown
  getRemoteAddressAsText(): ArrayBuffer
}

export type Serve = (response: HttpResponse, request: HttpRequest) => void

/** The adapter that serves, as logs and metrics name it. */
export type AdapterName = 'uWebSockets.js' | 'node:http'

export interface Listener {
  /** The port that was bound, also when 0 was asked for. */
  readonly port: number
  /** Stops accepting; connections with a request in flight stay open. */
  close(): void
}

/**
 * Routes by method and path: `:name` is one segment, `*` at the end is any rest. A method of its
 * own goes before `any`, a literal segment before a parameter, a parameter before a rest.
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
   * @param value of the header `name`; further headers follow it as lines of their own
   */
  writeHeaders(response: HttpResponse, name: string, value: string): void
}

export interface App extends RoutedApp {
  /**
   * @param port 0 picks a free one
   * @throws Error when the address cannot be bound
   */
  listen(host: string, port: number): Promise<Listener>
}
