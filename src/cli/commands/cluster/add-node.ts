import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type GlobalOptions, homeOf } from '../../connection.js'
import { UsageError } from '../../exit-codes.js'
import type { Io } from '../../io.js'
import { printRecord } from '../../print.js'
import { type DomainOptions, journaledDomainOption } from './domain-option.js'

const HELP = `
Runs while the service does, as its user. In it: what opens its shares, those, sealed, ledger, evidence and lists, registry.json, chains.json, screening.json. Not in it: the store, which the new node
fills from the journal, the co-signer key, of which each machine has its own, and what is another domain's, of one run, or named by the environment.
A home made of one that is frozen (custody freeze) is frozen: lift it in each.
With --new-cell it is the first home of another cell: without shares, ledger and evidence too, since its users are
others. Its journal's file names the same cells, and that one as its own.
With --domain user it is the home of a standby of the identity provider: all that one has, and nothing of the service.`

/** Of the identity provider. */
const NEXT_OF_USER = `Keys, shares, accounts and sessions are in it: carry it over encrypted, and remove it here and there once it is in
place. A token or KMS that identity-provider/vault/keys/store.json names has to answer there. Then, on that machine, as root:
  1. Copy what is in it into /var/lib/countersign:
       chown -R countersign-identity:countersign-identity /var/lib/countersign/identity-provider
       chown root:root /var/lib/countersign/registry.json, mode 0644
       systemd-tmpfiles --create
  2. The environment of the identity provider here, with IDENTITY_JOURNAL_FILE and IDENTITY_JOURNAL_ROLE=standby, and
     here too: the one that comes back then waits for the other. IDENTITY_LINK_FILE with an address and a
     certificate of its own, IDENTITY_PUBLIC_ISSUER as here.
  3. In the link file of each wallet service, "others": ["that machine:port"]; restart them.
  4. In front of the login, what sends browsers to whichever of the two answers.
Start it within a week, which is how long the journal keeps what it did meanwhile.
`

/** What no copy of a home brings along. */
const NEXT = `What opens the shares is in it where keys lie in files: carry it over encrypted, and remove it here
and there once it is in place. A token or KMS that service/custody/keys/store.json names has to answer there.
Then, on that machine, as root where countersign is installed with its units:
  1. Copy what is in it into /var/lib/countersign, whose owner and mode stay: not the directory itself.
       chown -R countersign-service:countersign-service /var/lib/countersign/service
         and /var/lib/countersign/lists, where there is one
       chown root:root /var/lib/countersign/registry.json and chains.json, mode 0644
       systemd-tmpfiles --create, which sets owners and modes of the directories and makes the missing ones
     Where one user runs all of it, the copy is the home as it is.
  2. The journal's file and the service's environment as they are here, with COUNTERSIGN_JOURNAL_FILE and
     COUNTERSIGN_JOURNAL_ROLE=standby, and here too: the one that comes back then waits for the other.
  3. The same identity provider, by COUNTERSIGN_IDENTITY_LINK_FILE, or on its machine by its socket in run/.
  4. A co-signer key and a quorum signer of its own, each as its user, with root.pub.pem of service/custody/keys:
       countersign custody provision --domain service --root-public root.pub.pem --enrolment s2.json
       countersign custody provision --domain quorum --root-public root.pub.pem --enrolment q2.json
     On the root's machine, with the registry as it is now:
       countersign custody sign-registry --root root.pem --registry registry.json --enrolments s2.json q2.json --out next.json
     On every machine, as root:
       countersign custody install-registry next.json
     Where there are Routers, by their owner, before this node may take over:
       countersign contracts configure
  5. The service. /readyz says how far it is behind; 200 there is for whoever sends callers to it.
`

/** Beside what is done for a further node. */
const NEXT_OF_CELL = `${NEXT}
For the first node of a cell, in place of step 2: the journal's file as it is here, but "cell" its number; and
COUNTERSIGN_JOURNAL_ROLE=owner at its first start, before there are others of the cell. Those are made of its
home, without --new-cell. Its gas wallets are its own: countersign gas-wallets and countersign contracts configure
are to be said at its home as well.
`

type AddNodeOptions = GlobalOptions & DomainOptions & { to: string; newCell?: true }

export function registerAddNode(cluster: Command, io: Io): void {
  cluster
    .command('add-node')
    .description('make the home of a further node out of this one, to carry to its machine')
    .addOption(journaledDomainOption())
    .requiredOption('--to <directory>', 'a directory that does not exist yet, or is empty')
    .option('--new-cell', 'for other users: nothing of those here is in it')
    .addHelpText('after', HELP)
    .action(async (_given: object, command: Command) => {
      const options = command.optsWithGlobals<AddNodeOptions>()
      const isOfNewCell = options.newCell === true
      if (isOfNewCell && options.domain === 'user') {
        throw new UsageError('one identity provider serves all cells')
      }
      const { makeNodeHome } = await import('../../operator/make-node-home.js')
      const to = resolve(options.to)
      const made = await makeNodeHome(homeOf(io, options), options.domain, to, isOfNewCell)
      printRecord(io, options, { home: to, ...made })
      io.err(options.domain === 'user' ? NEXT_OF_USER : isOfNewCell ? NEXT_OF_CELL : NEXT)
    })
}
