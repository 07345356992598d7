// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

interface IMint {
    function mint(address to, uint256 amount) external;
}

interface IWrapped {
    function deposit() external payable;

    function transfer(address to, uint256 amount) external returns (bool);
}

interface IMintItem {
    function mint(address to, uint256 id, uint256 amount) external;
}

/// @notice Gives a fresh wallet some of everything in one transaction.
contract Faucet {
    uint256 private _nextId = 1;

    event Funded(address indexed wallet, uint256 id);

    function fund(
        address wallet,
        address[] calldata tokens,
        uint256[] calldata amounts,
        address wrapped,
        address collectible,
        address bundle
    ) external payable {
        uint256 id = _nextId++;
        for (uint256 i = 0; i < tokens.length; i++) IMint(tokens[i]).mint(wallet, amounts[i]);
        IWrapped(wrapped).deposit{value: msg.value}();
        IWrapped(wrapped).transfer(wallet, msg.value);
        IMint(collectible).mint(wallet, id);
        IMintItem(bundle).mint(wallet, id, 10);
        IMintItem(bundle).mint(wallet, id + 1_000_000, 5);
        emit Funded(wallet, id);
    }
}
