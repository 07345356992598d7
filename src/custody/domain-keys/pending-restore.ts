import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DomainLayout } from './layout.js'
import { writePublicFile } from './private-file.js'

/** The file exists while a domain's stores are being replaced; see `restoreDomain`. */
export function pendingRestorePath(layout: Pick<DomainLayout, 'shares'>): string {
  return join(dirname(layout.shares), 'restore.json')
}

/** @throws Error while a restore is incomplete: the stores would be of different times */
export function refuseHalfRestored(layout: Pick<DomainLayout, 'shares'>): void {
  const path = pendingRestorePath(layout)
  if (existsSync(path)) {
    throw new Error(`${path}: a restore was interrupted; repeat it before this domain starts`)
  }
  const ofAll = pendingBackupRestorePath(layout)
  if (existsSync(ofAll)) {
    throw new Error(`${ofAll}: repeat countersign backup restore, which was interrupted or failed`)
  }
}

/** The file exists while a whole domain is restored; see `restoreBackup`. */
export function pendingBackupRestorePath(layout: Pick<DomainLayout, 'shares'>): string {
  return join(dirname(layout.shares), 'backup-restore.json')
}

/**
 * The file exists from the identity provider's restore until its fence: what it forgot must not
 * count again.
 */
export function unfencedPath(layout: Pick<DomainLayout, 'shares'>): string {
  return join(dirname(layout.shares), 'unfenced.json')
}

/**
 * Tells whether a restored identity provider's own evidence includes what came after the backup.
 */
export type OwnEvidence = 'outlived' | 'of-backup'

/**
 * Keeps the identity provider from starting, and records what its fence may use. Durable on return.
 */
export function noteUnfenced(layout: Pick<DomainLayout, 'shares'>, evidence: OwnEvidence): void {
  writePublicFile(unfencedPath(layout), Buffer.from(`${JSON.stringify({ evidence })}\n`))
}

/** Returns null after the fence. A file without that field guarantees nothing. */
export function unfencedEvidence(layout: Pick<DomainLayout, 'shares'>): OwnEvidence | null {
  const path = unfencedPath(layout)
  if (!existsSync(path)) return null
  const { evidence } = JSON.parse(readFileSync(path, 'utf8')) as { evidence?: unknown }
  return evidence === 'outlived' ? evidence : 'of-backup'
}

/** @throws Error while approvals, revocations and authorizers made since the backup are missing */
export function refuseUnfenced(layout: Pick<DomainLayout, 'shares'>): void {
  const path = unfencedPath(layout)
  if (existsSync(path)) {
    throw new Error(`${path}: restored from a backup; run custody fence before this domain starts`)
  }
}
