import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { registryPath, serviceLayout, userSideLayout } from '../../custody/domain-keys/layout.js'
import { readRegistryFile, readRootKey } from '../../custody/domain-keys/registry-file.js'
import { openEvidenceReader } from '../../custody/evidence/evidence-log.js'
import { type ReadEvidence, readEvidence } from '../../custody/evidence/read-evidence.js'
import { openRegistry } from '../../quorum-protocol/registry.js'
import { type AuditReport, verifyEvidence } from '../audit/verify-evidence.js'

interface AuditPlaces {
  readonly home: string
  /**
   * The domain's directory, its evidence or a backup of either; null for the home's. For several
   * nodes of a journal name all of them, because each has only what it requested.
   */
  readonly services: readonly string[] | null
  /** The same for the identity provider. */
  readonly identity: string | null
  /** The signed registry; null for the home's. */
  readonly registry: string | null
  /** The registry root's public key in PEM; null for the one that the home's service pins. */
  readonly root: string | null
}

interface HomeAudit {
  readonly report: AuditReport
  readonly serviceEntries: number
  readonly userEntries: number
}

/**
 * Compares both evidence logs, offline.
 * @throws Error that names what is missing
 */
export async function auditHome(places: AuditPlaces): Promise<HomeAudit> {
  const { home } = places
  const root = readRootKey(places.root ?? serviceLayout(home).rootKey)
  const registry = openRegistry(readRegistryFile(places.registry ?? registryPath(home)), root)
  const servicePaths = (places.services ?? [serviceLayout(home).evidence]).map(evidenceIn)
  const identityPath = evidenceIn(places.identity ?? userSideLayout(home).evidence)
  const services: ReadEvidence[] = []
  for (const path of servicePaths) {
    const name = servicePaths.length === 1 ? 'service log' : `service log ${path}`
    services.push(await read(name, path))
  }
  const user = await read('identity provider log', identityPath)
  return {
    report: await verifyEvidence(services, user, registry),
    serviceEntries: services.reduce((sum, { entries }) => sum + entries, 0),
    userEntries: user.entries,
  }
}

async function read(name: string, path: string): Promise<ReadEvidence> {
  const log = openEvidenceReader(path)
  try {
    return readEvidence(name, log.entries())
  } finally {
    await log.close()
  }
}

/** @throws Error that names the directory when it contains no evidence */
export function evidenceIn(place: string): string {
  const found = ['', 'evidence', join('custody', 'evidence'), join('vault', 'evidence')]
    .map((below) => join(place, below))
    .find((path) => existsSync(join(path, 'data.mdb')))
  if (found === undefined) throw new Error(`${place} contains no evidence`)
  return found
}
