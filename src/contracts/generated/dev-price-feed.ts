// Generated from DevPriceFeed.sol by scripts/contracts/compile.ts; do not edit.
export const devPriceFeedAbi = [
  {
    "inputs": [
      {
        "internalType": "string",
        "name": "description_",
        "type": "string"
      },
      {
        "internalType": "int256",
        "name": "answer_",
        "type": "int256"
      },
      {
        "internalType": "address",
        "name": "owner_",
        "type": "address"
      }
    ],
    "stateMutability": "nonpayable",
    "type": "constructor"
  },
  {
    "inputs": [],
    "name": "NoDataPresent",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "owner",
        "type": "address"
      }
    ],
    "name": "OwnableInvalidOwner",
    "type": "error"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "account",
        "type": "address"
      }
    ],
    "name": "OwnableUnauthorizedAccount",
    "type": "error"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "int256",
        "name": "current",
        "type": "int256"
      },
      {
        "indexed": true,
        "internalType": "uint256",
        "name": "roundId",
        "type": "uint256"
      },
      {
        "indexed": false,
        "internalType": "uint256",
        "name": "updatedAt",
        "type": "uint256"
      }
    ],
    "name": "AnswerUpdated",
    "type": "event"
  },
  {
    "anonymous": false,
    "inputs": [
      {
        "indexed": true,
        "internalType": "address",
        "name": "previousOwner",
        "type": "address"
      },
      {
        "indexed": true,
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "OwnershipTransferred",
    "type": "event"
  },
  {
    "inputs": [],
    "name": "decimals",
    "outputs": [
      {
        "internalType": "uint8",
        "name": "",
        "type": "uint8"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "description",
    "outputs": [
      {
        "internalType": "string",
        "name": "",
        "type": "string"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint256",
        "name": "timestamp",
        "type": "uint256"
      }
    ],
    "name": "freezeAt",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "frozenAt",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "uint80",
        "name": "roundId_",
        "type": "uint80"
      }
    ],
    "name": "getRoundData",
    "outputs": [
      {
        "internalType": "uint80",
        "name": "",
        "type": "uint80"
      },
      {
        "internalType": "int256",
        "name": "",
        "type": "int256"
      },
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      },
      {
        "internalType": "uint80",
        "name": "",
        "type": "uint80"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "latestRoundData",
    "outputs": [
      {
        "internalType": "uint80",
        "name": "roundId",
        "type": "uint80"
      },
      {
        "internalType": "int256",
        "name": "answer",
        "type": "int256"
      },
      {
        "internalType": "uint256",
        "name": "startedAt",
        "type": "uint256"
      },
      {
        "internalType": "uint256",
        "name": "updatedAt",
        "type": "uint256"
      },
      {
        "internalType": "uint80",
        "name": "answeredInRound",
        "type": "uint80"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "owner",
    "outputs": [
      {
        "internalType": "address",
        "name": "",
        "type": "address"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "renounceOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "int256",
        "name": "answer_",
        "type": "int256"
      }
    ],
    "name": "setAnswer",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [
      {
        "internalType": "address",
        "name": "newOwner",
        "type": "address"
      }
    ],
    "name": "transferOwnership",
    "outputs": [],
    "stateMutability": "nonpayable",
    "type": "function"
  },
  {
    "inputs": [],
    "name": "version",
    "outputs": [
      {
        "internalType": "uint256",
        "name": "",
        "type": "uint256"
      }
    ],
    "stateMutability": "view",
    "type": "function"
  }
] as const

/** Creation code, without constructor arguments. */
export const devPriceFeedBytecode =
  '0x6080604052600380546001600160501b0319166001179055348015610022575f5ffd5b5060405161098b38038061098b8339810160408190526100419161010e565b806001600160a01b03811661006f57604051631e4fbdf760e01b81525f600482015260240160405180910390fd5b61007881610090565b5060016100858482610265565b505060025550610323565b5f80546001600160a01b038381166001600160a01b0319831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b634e487b7160e01b5f52604160045260245ffd5b80516001600160a01b0381168114610109575f5ffd5b919050565b5f5f5f60608486031215610120575f5ffd5b83516001600160401b03811115610135575f5ffd5b8401601f81018613610145575f5ffd5b80516001600160401b0381111561015e5761015e6100df565b604051601f8201601f19908116603f011681016001600160401b038111828210171561018c5761018c6100df565b6040528181528282016020018810156101a3575f5ffd5b8160208401602083015e5f60209282018301529086015190945092506101cd9050604085016100f3565b90509250925092565b600181811c908216806101ea57607f821691505b60208210810361020857634e487b7160e01b5f52602260045260245ffd5b50919050565b601f821115610260578282111561026057805f5260205f20601f840160051c602085101561023957505f5b90810190601f840160051c035f5b8181101561025c575f83820155600101610247565b5050505b505050565b81516001600160401b0381111561027e5761027e6100df565b6102928161028c84546101d6565b8461020e565b6020601f8211600181146102c4575f83156102ad5750848201515b5f19600385901b1c1916600184901b17845561031c565b5f84815260208120601f198516915b828110156102f357878501518255602094850194600190920191016102d3565b508482101561031057868401515f19600387901b60f8161c191681555b505060018360011b0184555b5050505050565b61065b806103305f395ff3fe608060405234801561000f575f5ffd5b50600436106100c4575f3560e01c80638da5cb5b1161007d578063f137087511610058578063f1370875146101a9578063f2fde38b146101bc578063feaf968c146101cf575f5ffd5b80638da5cb5b1461012557806399213cd81461014c5780639a6fc8f51461015f575f5ffd5b806354fd4d50116100ad57806354fd4d50146100fe578063715018a6146101065780637284e41614610110575f5ffd5b8063313ce567146100c8578063364e18bb146100e7575b5f5ffd5b6100d0600881565b60405160ff90911681526020015b60405180910390f35b6100f060045481565b6040519081526020016100de565b6100f0600481565b61010e6101d7565b005b6101186101ea565b6040516100de91906104e8565b5f5460405173ffffffffffffffffffffffffffffffffffffffff90911681526020016100de565b61010e61015a36600461053b565b610276565b61017261016d366004610552565b610300565b6040805169ffffffffffffffffffff968716815260208101959095528401929092526060830152909116608082015260a0016100de565b61010e6101b736600461053b565b61036e565b61010e6101ca366004610582565b61037b565b6101726103e3565b6101df610422565b6101e85f610474565b565b600180546101f7906105b5565b80601f0160208091040260200160405190810160405280929190818152602001828054610223906105b5565b801561026e5780601f106102455761010080835404028352916020019161026e565b820191905f5260205f20905b81548152906001019060200180831161025157829003601f168201915b505050505081565b61027e610422565b60028190556003805469ffffffffffffffffffff16905f61029e83610606565b82546101009290920a69ffffffffffffffffffff8181021990931691831602179091556003546040514281529116915082907f0559884fd3a460db3073b7fc896cc77986f16e378210ded43186175bf646fc5f9060200160405180910390a350565b6003545f90819081908190819069ffffffffffffffffffff878116911614610354576040517fbb25870000000000000000000000000000000000000000000000000000000000815260040160405180910390fd5b61035c6103e3565b939a9299509097509550909350915050565b610376610422565b600455565b610383610422565b73ffffffffffffffffffffffffffffffffffffffff81166103d7576040517f1e4fbdf70000000000000000000000000000000000000000000000000000000081525f60048201526024015b60405180910390fd5b6103e081610474565b50565b5f5f5f5f5f5f6004545f146103fa576004546103fc565b425b60035460025469ffffffffffffffffffff90911698909750909550859450879350915050565b5f5473ffffffffffffffffffffffffffffffffffffffff1633146101e8576040517f118cdaa70000000000000000000000000000000000000000000000000000000081523360048201526024016103ce565b5f805473ffffffffffffffffffffffffffffffffffffffff8381167fffffffffffffffffffffffff0000000000000000000000000000000000000000831681178455604051919092169283917f8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e09190a35050565b602081525f82518060208401528060208501604085015e5f6040828501015260407fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe0601f83011684010191505092915050565b5f6020828403121561054b575f5ffd5b5035919050565b5f60208284031215610562575f5ffd5b813569ffffffffffffffffffff8116811461057b575f5ffd5b9392505050565b5f60208284031215610592575f5ffd5b813573ffffffffffffffffffffffffffffffffffffffff8116811461057b575f5ffd5b600181811c908216806105c957607f821691505b602082108103610600577f4e487b71000000000000000000000000000000000000000000000000000000005f52602260045260245ffd5b50919050565b5f69ffffffffffffffffffff821669ffffffffffffffffffff8103610652577f4e487b71000000000000000000000000000000000000000000000000000000005f52601160045260245ffd5b6001019291505056'
