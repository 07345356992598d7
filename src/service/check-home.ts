import { join } from 'node:path'
import { identityLinkAt } from '../config/identity-link.js'
import { readJournalFile } from '../config/journal.js'
import { readNodeLinkFile } from '../config/node-link.js'
import { readScreeningFile } from '../config/screening.js'
import { readSmtpFile } from '../config/smtp.js'
import { registryPath, serviceLayout } from '../custody/domain-keys/layout.js'
import { openRegistryFile } from '../custody/domain-keys/registry-file.js'
import { OWNER_ALONE } from '../custody/home-lock/own-home.js'
import { requireOpenedSchema } from '../store/environment.js'

/**
 * Reads every file that a start will read. A mistake in a file, or a store of another schema, thus
 * ends a successor while its predecessor still serves. It keeps and changes nothing.
 * @throws Error that names the file and the reason
 */
export async function checkHome(
  home: string,
  config: {
    readonly mode: 'dev' | 'live'
    readonly smtpFile: string | null
    readonly identityLinkFile: string | null
    readonly journalFile: string | null
    readonly nodeLinkFile: string | null
  },
): Promise<void> {
  // Opening a store, even to read it, may create its lock file.
  process.umask(OWNER_ALONE)
  readScreeningFile(home)
  if (config.smtpFile !== null) readSmtpFile(config.smtpFile)
  if (config.identityLinkFile !== null) identityLinkAt(config.identityLinkFile).credentials()
  if (config.journalFile !== null) readJournalFile(config.journalFile)
  if (config.nodeLinkFile !== null) readNodeLinkFile(config.nodeLinkFile)
  openRegistryFile(registryPath(home), serviceLayout(home).rootKey, config.mode)
  const half = config.journalFile === null ? 'refused' : 'opened'
  await requireOpenedSchema(join(home, 'service', 'store'), half)
}
