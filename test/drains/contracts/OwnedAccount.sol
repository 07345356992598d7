// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";

/// @notice Holds money for its owner and does what it says: an escrow, a safe, a bot's purse. Its
/// fault: while it executes, whomever it calls may call it.
contract OwnedAccount {
    struct Call {
        address target;
        uint256 value;
        bytes data;
    }

    address public owner;
    address private _nextOwner;
    address private _code;
    mapping(address => bool) public isModule;
    bool private _executing;
    mapping(bytes32 => bool) public isScheduled;

    constructor(address owner_) {
        owner = owner_;
    }

    receive() external payable {}

    function onERC721Received(
        address,
        address,
        uint256,
        bytes calldata
    ) external pure returns (bytes4) {
        return this.onERC721Received.selector;
    }

    modifier authorized() {
        require(msg.sender == owner || isModule[msg.sender] || _executing, "unauthorized");
        _;
    }

    function execute(address target, uint256 value, bytes calldata data) public authorized {
        bool before = _executing;
        _executing = true;
        (bool success, ) = target.call{value: value}(data);
        require(success, "execute");
        _executing = before;
    }

    function executeBatch(Call[] calldata calls) external {
        for (uint256 i = 0; i < calls.length; i++) {
            execute(calls[i].target, calls[i].value, calls[i].data);
        }
    }

    /// @dev As a Safe does: with operation 1 in its own name, and with its own storage.
    function execTransaction(
        address to,
        uint256 value,
        bytes calldata data,
        uint8 operation,
        uint256,
        uint256,
        uint256,
        address,
        address,
        bytes calldata
    ) external authorized {
        (bool success, ) = operation == 1 ? to.delegatecall(data) : to.call{value: value}(data);
        require(success, "execTransaction");
    }

    /// @dev As a timelock does: whoever owns it says what, and anybody when.
    function schedule(
        address target,
        uint256 value,
        bytes calldata data,
        bytes32,
        bytes32,
        uint256
    ) external authorized {
        isScheduled[keccak256(abi.encode(target, value, data))] = true;
    }

    function runScheduled(address target, uint256 value, bytes calldata data) external {
        require(isScheduled[keccak256(abi.encode(target, value, data))], "not scheduled");
        (bool success, ) = target.call{value: value}(data);
        require(success, "scheduled");
    }

    function withdraw(IERC20 token, uint256 amount, address to) external authorized {
        token.transfer(to, amount);
    }

    function transferOwnership(address to) external authorized {
        owner = to;
    }

    function changeOwner(address to) external authorized {
        owner = to;
    }

    function transferAdmin(address to) external authorized {
        owner = to;
    }

    function setPendingOwner(address to) external authorized {
        _nextOwner = to;
    }

    function acceptOwnership() external {
        require(msg.sender == _nextOwner, "unauthorized");
        owner = msg.sender;
    }

    function addOwner(address to) external authorized {
        isModule[to] = true;
    }

    function grantRoles(address to, uint256 roles) external authorized {
        isModule[to] = roles != 0;
    }

    function upgradeTo(address code) external authorized {
        _code = code;
    }

    fallback(bytes calldata data) external payable returns (bytes memory result) {
        bool success;
        (success, result) = _code.delegatecall(data);
        require(success && _code != address(0), "no such function");
    }

    /// @dev A name that nobody else gave it.
    function bequeath(address to) external authorized {
        owner = to;
    }

    function enableModule(address module) external authorized {
        isModule[module] = true;
    }
}
