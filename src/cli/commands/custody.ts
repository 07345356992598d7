import type { Command } from 'commander'
import type { Io } from '../io.js'
import { registerBackups } from './custody/backups.js'
import { registerFreezes } from './custody/freezes.js'
import { registerProvisioning } from './custody/provisioning.js'
import { registerRecovery } from './custody/recovery.js'
import { registerRotations } from './custody/rotations.js'

/**
 * Commands that read and write a domain's own files, and so run as that domain's user. Their code
 * is imported on use: a machine that only sends needs no native curve.
 */
export function register(program: Command, io: Io): void {
  const custody = program
    .command('custody')
    .description('keys, shares and backups of the three domains; src/custody/README.md explains')
  registerProvisioning(custody, io)
  registerRotations(custody, io)
  registerBackups(custody, io)
  registerRecovery(custody, io)
  registerFreezes(custody, io)
}
