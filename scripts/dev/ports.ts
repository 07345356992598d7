import { z } from 'zod'
import { readJsonFile, writeJsonAtomically } from './home/json-file.js'
import type { DevHome } from './home/layout.js'

const port = z.int().min(1).max(65_535)
const portsFile = z.object({
  identity_provider: port.optional(),
  chains: z.record(z.string(), port),
  /** Of the services of a cluster, by the number of their node. */
  nodes: z.record(z.string(), port).optional(),
})

/** Ports of the last run: taken again when free, so that URLs people noted stay true. */
export type LastPorts = z.infer<typeof portsFile>

export function readLastPorts(home: DevHome): LastPorts {
  return readJsonFile(home.portsFile, portsFile) ?? { chains: {} }
}

export function writeLastPorts(home: DevHome, ports: LastPorts): void {
  writeJsonAtomically(home.portsFile, ports)
}
