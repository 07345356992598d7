// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @notice A lending market of one asset with functions of Aave v3: receipts are a token, debts are
/// the borrower's, and a borrower may let others borrow in its name.
contract ReceiptMarket is ERC20 {
    IERC20 public immutable ASSET;
    mapping(address => uint256) public debtOf;
    mapping(address => mapping(address => uint256)) public borrowAllowance;

    event Supply(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount);
    event Withdraw(
        address indexed reserve,
        address indexed user,
        address indexed to,
        uint256 amount
    );
    event Borrow(address indexed reserve, address user, address indexed onBehalfOf, uint256 amount);
    event BorrowAllowanceDelegated(
        address indexed fromUser,
        address indexed toUser,
        address indexed asset,
        uint256 amount
    );

    constructor(IERC20 asset) ERC20("Receipt", "aUSDC") {
        ASSET = asset;
    }

    function decimals() public pure override returns (uint8) {
        return 6;
    }

    function supply(address asset, uint256 amount, address onBehalfOf, uint16) external {
        require(asset == address(ASSET), "asset");
        ASSET.transferFrom(msg.sender, address(this), amount);
        _mint(onBehalfOf, amount);
        emit Supply(asset, msg.sender, onBehalfOf, amount);
    }

    function withdraw(address asset, uint256 amount, address to) external returns (uint256) {
        _burn(msg.sender, amount);
        require(debtOf[msg.sender] <= balanceOf(msg.sender), "debt");
        ASSET.transfer(to, amount);
        emit Withdraw(asset, msg.sender, to, amount);
        return amount;
    }

    function borrow(address asset, uint256 amount, uint256, uint16, address onBehalfOf) external {
        if (onBehalfOf != msg.sender) borrowAllowance[onBehalfOf][msg.sender] -= amount;
        debtOf[onBehalfOf] += amount;
        require(debtOf[onBehalfOf] <= balanceOf(onBehalfOf), "collateral");
        ASSET.transfer(msg.sender, amount);
        emit Borrow(asset, msg.sender, onBehalfOf, amount);
    }

    function approveDelegation(address delegatee, uint256 amount) external {
        borrowAllowance[msg.sender][delegatee] = amount;
        emit BorrowAllowanceDelegated(msg.sender, delegatee, address(ASSET), amount);
    }
}
