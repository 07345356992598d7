import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { DomainLayout } from '../domain-keys/layout.js'

/** There while a domain's stores change places; see `restoreDomain`. */
export function pendingRestorePath(layout: Pick<DomainLayout, 'shares'>): string {
  return join(dirname(layout.shares), 'restore.json')
}

/** @throws Error while a restore is half done: some stores would be of another time than others */
export function refuseHalfRestored(layout: Pick<DomainLayout, 'shares'>): void {
  const path = pendingRestorePath(layout)
  if (existsSync(path)) {
    throw new Error(`${path}: a restore was interrupted; repeat it before this domain starts`)
  }
}
