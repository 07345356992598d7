/** Ports of one node, on this machine. */
export interface RestatePorts {
  readonly ingress: number
  readonly admin: number
  readonly node: number
}

export interface RestateSettings {
  /** The cluster's name. */
  readonly cluster: string
  /** The node's index, counted from 0. */
  readonly index: number
  readonly own: RestatePorts
  readonly all: readonly RestatePorts[]
  /** Lines for `[worker.invoker]`. */
  readonly invoker?: readonly string[]
}

/** The number of Restate's partitions, over which it distributes its objects. */
export const PARTITIONS = 3

/** Writes a node's `restate.toml`: the settings of scripts/systemd/restate.toml, with this machine's addresses. */
export function restateSettings(settings: RestateSettings): string {
  const { cluster, index, own, all, invoker = [] } = settings
  const isOne = all.length === 1
  const addresses = all.map(({ node }) => `"http://127.0.0.1:${node}"`).join(', ')
  return `
cluster-name = "${cluster}"
node-name = "node-${index}"
auto-provision = ${isOne}
listen-mode = "tcp"
bind-address = "127.0.0.1:${own.node}"
advertised-address = "http://127.0.0.1:${own.node}"
default-num-partitions = ${PARTITIONS}
default-replication = ${isOne ? 1 : 2}
disable-telemetry = true
rocksdb-total-memory-size = "256 MiB"
log-filter = "warn,restate=info"
log-disable-ansi-codes = true

[metadata-client]
type = "replicated"
addresses = [${addresses}]
connect-timeout = "1s"
keep-alive-interval = "1s"
keep-alive-timeout = "1s"

[networking]
connect-timeout = "1s"
http2-keep-alive-timeout = "1s"

[ingress]
bind-address = "127.0.0.1:${own.ingress}"

[admin]
bind-address = "127.0.0.1:${own.admin}"

[worker.invoker]
${invoker.join('\n')}
`
}
