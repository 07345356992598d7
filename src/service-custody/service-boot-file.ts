import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Timers } from '../clock/timers.js'
import { readPrivateFile, writePrivateFile } from '../custody/domain-keys/private-file.js'
import { SERVICE_BOOT_BYTES } from '../quorum-protocol/service-boot.js'

/** A boot of its own for a service that starts. */
export function newServiceBoot({ random }: Pick<Timers, 'random'>): Buffer {
  return Buffer.from(random.bytes(SERVICE_BOOT_BYTES))
}

/**
 * Keeps it for commands that act as a part of that service next to it. Of a service with a journal, not
 * before that is taken: a command would announce it as the owner that its store still names.
 */
export function keepServiceBoot(home: string, boot: Buffer): void {
  writePrivateFile(pathIn(home), boot)
}

/** Of the service that last started on this home; a new one where none ever did. */
export function lastServiceBoot(home: string, timers: Pick<Timers, 'random'>): Buffer {
  if (existsSync(pathIn(home))) return readPrivateFile(pathIn(home))
  const boot = newServiceBoot(timers)
  keepServiceBoot(home, boot)
  return boot
}

function pathIn(home: string): string {
  return join(home, 'service', 'custody', 'boot')
}
