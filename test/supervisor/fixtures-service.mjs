// A service as its supervisor sees it: what it says, and when it ends.
const [how] = process.argv.slice(2)
let hasSuccessor = false
process.on('message', ({ type }) => {
  hasSuccessor ||= type === 'successor-waits'
})
process.on('SIGTERM', () => process.exit(hasSuccessor ? 10 : 0))
process.on('disconnect', () => process.exit(0))
if (how === 'breaks-at-once') process.exit(3)
if (how !== 'runs') process.send({ type: 'ready-to-take-over' })
if (how === 'breaks-late') setTimeout(() => process.exit(4), 20)
else process.send({ type: 'ready' })
