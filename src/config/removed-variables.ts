/** Variables of earlier builds, each with what holds instead. */
const REMOVED: Readonly<Record<string, string>> = {
  CONSOLE_AUDIENCE: 'the audience of console tokens is urn:countersign:console',
  COUNTERSIGN_HTTP_ADAPTER: 'uWebSockets.js serves if it has a native build, else node:http',
  COUNTERSIGN_IN_FLIGHT_MAX: '10,000 requests may be in progress',
  COUNTERSIGN_RATE_BURST: 'a burst is five seconds of COUNTERSIGN_RATE_PER_SECOND',
  COUNTERSIGN_RETENTION_MINUTES: 'expired records are removed every hour',
  COUNTERSIGN_WRITES_IN_FLIGHT_MAX: '1,024 calls that move value may be in progress or waiting',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'set COUNTERSIGN_OTEL_ENDPOINT',
}

export function isRemoved(name: string): boolean {
  return Object.hasOwn(REMOVED, name)
}

/** Returns a sentence for the log about each name that is no longer a setting. */
export function removedVariables(names: readonly string[]): string[] {
  return names.filter(isRemoved).map((name) => `${name} is no longer a setting: ${REMOVED[name]}`)
}
