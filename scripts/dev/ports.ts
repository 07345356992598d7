import { z } from 'zod'
import { readJsonFile, writeJsonAtomically } from './home/json-file.js'
import type { DevHome } from './home/layout.js'

const port = z.int().min(1).max(65_535)
const portsFile = z.object({
  identity_provider: port.optional(),
  chains: z.record(z.string(), port),
  /** The services' ports in a cluster, by node number. */
  nodes: z.record(z.string(), port).optional(),
})

/** The last run's ports, used again when free, so that noted URLs stay valid. */
export type LastPorts = z.infer<typeof portsFile>

export function readLastPorts(home: DevHome): LastPorts {
  return readJsonFile(home.portsFile, portsFile) ?? { chains: {} }
}

export function writeLastPorts(home: DevHome, ports: LastPorts): void {
  writeJsonAtomically(home.portsFile, ports)
}
